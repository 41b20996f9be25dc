# shellcheck shell=bash disable=SC2034,SC2154
packages='lighttpd lighttpd-modules-lua' programs=lighttpd lua=5.4

# The script of docs/guide/language-models.md, with a tiny model. Workers of the first server may still listen after its end, so
# the second one has another port.
try_model() {
    local first=$port
    port=$(free_port)
    (cd "$ROOT" && "$BUILD/ltensor" -e "local tiny = dofile 'tests/lua/support/tiny_llama.lua'
        io.open('$work/SmolLM2-135M-Instruct.Q4_1.gguf', 'wb'):write((tiny.text(tiny.tokenizer())))")
    local expected
    expected=$("$BUILD/ltensor" generate SmolLM2-135M-Instruct.Q4_1.gguf --prompt abc --max-tokens 20) ||
        fail "ltensor generate failed: $expected"
    sed -i 's/max_tokens = 100/max_tokens = 20/' complete.lua # the context has 64 tokens
    sed -i "s/network_magnet/complete/; s/$first/$port/" lighttpd.conf
    start lighttpd -D -f lighttpd.conf
    until_true get '?ab%63'
    for _ in 1 2 3 4; do
        [ "$(get '?ab%63')" = "$expected" ] || fail "the answer is '$(get '?ab%63')', expected '$expected'"
    done
    expect 'the prompt is empty' curl -sS "http://127.0.0.1:$port/"
    stop INT
}

try() {
    start lighttpd -D -f lighttpd.conf
    until_true get predict
    expect 'value -0.1003' get predict
    # Two workers answer, each with a network of its own.
    for _ in 1 2 3 4 5 6 7 8; do
        expect 'loss 0.00' get train
    done
    until_true answers 'value 0.2'
    kill -USR1 "$server" # new workers with new networks
    until_true answers 'value -0.1003'
    expect 'loss 0.00' get train
    stop INT
    try_model
}
