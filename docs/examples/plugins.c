/* plugins.c - a host that runs scripts it does not trust: filters of a picture, each with 64 MB,
 * two seconds, and nothing outside of it. What one does wrong is an error of its own.
 *
 *   cc -std=c99 plugins.c $(pkg-config --cflags --libs ltensor_lua) -o plugins && ./plugins
 */
#include <stdio.h>
#include <string.h>

#include "ltensor_script.h"

static const struct {
    const char *name, *text;
} plugins[] = {
    {"invert", "function filter(picture, options) return options.white - picture end"},
    {"blur", "local F = torch.nn.functional\n"
             "function filter(picture, options)\n"
             "  local size = options.size\n"
             "  return F.avg_pool2d(picture[{1, {}, {}}]:reshape(1, 1, 4, 4), size, {stride = 1, "
             "padding = size // 2}):squeeze(1)\n"
             "end"},
    {"endless", "function filter(picture) while true do pcall(error) end end"},
    {"thief", "function filter() return io.open('/etc/passwd'):read 'a' end"},
    {"spy", "function filter(picture) torch.save(picture, '/tmp/stolen.pt') end"},
    {"glutton", "function filter() local all = {} while true do all[#all + 1] = "
                "torch.empty(10000000) end end"},
    {"wrong", "function filter(picture, options) return picture:matmul(torch.ones(5)) end"},
};

static lt_status apply(lt_script *script, const char *text, const char *name, lt_tensor *picture,
                       lt_table *options, lt_value *result)
{
    lt_value args[2];
    int n = 1;
    lt_status status = lt_script_load(script, text, strlen(text), name, NULL, NULL);
    args[0] = lt_value_tensor(picture);
    args[1] = lt_value_table(options);
    return status == LT_OK ? lt_script_call(script, "filter", args, 2, result, &n) : status;
}

int main(void)
{
    float pixels[16];
    const int64_t sizes[] = {1, 4, 4};
    lt_tensor *picture = NULL;
    lt_table *options = NULL;
    lt_script_config config = lt_script_defaults();
    lt_value white = lt_value_double(255), size = lt_value_int(3);
    config.memory_limit = 64 << 20;
    config.seconds = 2;
    for (int i = 0; i < 16; i++) pixels[i] = (float)i;
    if (lt_tensor_wrap(pixels, LT_FLOAT32, 3, sizes, NULL, NULL, &picture) != LT_OK ||
        lt_table_new(&options) != LT_OK || lt_table_set(options, "white", &white) != LT_OK ||
        lt_table_set(options, "size", &size) != LT_OK) {
        fprintf(stderr, "%s\n", lt_error_message());
        return 1;
    }
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        lt_script *script = NULL;
        lt_value result = lt_value_none();
        lt_status status = lt_script_new(&config, &script);
        if (status == LT_OK)
            status = apply(script, plugins[i].text, plugins[i].name, picture, options, &result);
        if (status != LT_OK)
            printf("%s: %s\n", plugins[i].name, lt_error_message());
        else if (result.kind != LT_KIND_TENSOR)
            printf("%s: gave no picture\n", plugins[i].name);
        else
            printf("%s: the first pixel is %g\n", plugins[i].name,
                   (double)*(float *)lt_tensor_data(result.v.tensor));
        lt_value_release(&result); /* the result outlives the script if need be */
        lt_script_release(script);
    }
    lt_table_release(options);
    lt_tensor_release(picture);
    return 0;
}
