"""families.py - writes tests/lua/support/lm_families.lua: tiny models of each family of decoder-only
models and of encoders, with their results by Hugging Face's library transformers. Weights are numbers that the spec
computes, too (value_of), so that the file has names and shapes only.

    python3 tests/models/families.py > tests/lua/support/lm_families.lua

Needs torch, transformers and gguf.
"""
import json
import math
import os
import re

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"

import gguf
import torch
import transformers

IDS = [3, 17, 0, 22, 9, 9, 14, 5, 20, 1, 8, 11]
SMALL = dict(vocab_size=24, hidden_size=16, intermediate_size=24, num_hidden_layers=3, num_attention_heads=4,
             num_key_value_heads=2, head_dim=8, max_position_embeddings=32, bos_token_id=1, eos_token_id=2, pad_token_id=0)

LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64, "rope_theta": 10000.0}

# Name, configuration, its fields, architecture of gguf.
CASES = [
    ("llama", transformers.LlamaConfig, dict(tie_word_embeddings=True), "llama"),
    ("llama with biases and llama3 scaling", transformers.LlamaConfig, dict(attention_bias=True, mlp_bias=True, rope_parameters=LLAMA3), None),
    ("llama with linear scaling", transformers.LlamaConfig, dict(rope_parameters={"rope_type": "linear", "factor": 2.0, "rope_theta": 500.0}), "llama"),
    ("mistral", transformers.MistralConfig, dict(sliding_window=4), None),
    ("qwen2", transformers.Qwen2Config, dict(head_dim=4, use_sliding_window=True, sliding_window=5, max_window_layers=1), None),
    ("qwen2 without windows", transformers.Qwen2Config, dict(head_dim=4), "qwen2"),
    ("qwen3", transformers.Qwen3Config, dict(), "qwen3"),
    ("gemma", transformers.GemmaConfig, dict(), "gemma"),
    ("gemma2", transformers.Gemma2Config, dict(sliding_window=4, query_pre_attn_scalar=8, attn_logit_softcapping=2.0, final_logit_softcapping=1.5), "gemma2"),
    ("gemma3", transformers.Gemma3TextConfig, dict(num_hidden_layers=7, sliding_window=4, query_pre_attn_scalar=8), "gemma3"),
    ("phi3", transformers.Phi3Config, dict(head_dim=4, sliding_window=6), "phi3"),
    ("phi", transformers.PhiConfig, dict(head_dim=4, num_key_value_heads=4), "phi2"),
    ("gpt2", transformers.GPT2Config, dict(vocab_size=24, n_embd=16, n_layer=3, n_head=4, n_positions=32, n_inner=24, bos_token_id=1, eos_token_id=2), "gpt2"),
]
# A text with the tokens n c s f f k b q a e of [PAD] [UNK] [CLS] [SEP] a b c ..., and its beginning.
TEXTS = [2, 17, 6, 22, 9, 9, 14, 5, 20, 4, 8, 3], [2, 17, 6, 22, 3]
ENCODERS = [
    ("bert", transformers.BertConfig, dict(pad_token_id=0)),
    ("roberta", transformers.RobertaConfig, dict(pad_token_id=1)),
]
# The fields of configurations that matter.
SHOWN = r"model_type|vocab_size|hidden_(size|act|activation)$|intermediate|n_|num_|head_dim|max_|rms_|layer_norm_|rope_|tie|" \
    r"sliding|use_sliding|layer_types|query_pre|attn_logit|final_logit|activation_f"
ARCHITECTURES = {name: arch for arch, name in gguf.MODEL_ARCH_NAMES.items()}


def value_of(tensor, index):
    """Element `index` of tensor number `tensor`, from -0.5 to 0.5, by integer arithmetic."""
    h = (index * 2654435761 + tensor * 40503 + 12345) & 0xFFFFFFFF
    h = ((h ^ (h >> 15)) * 2246822519) & 0xFFFFFFFF
    return (h ^ (h >> 13)) / 2**32 - 0.5


def pattern_of(name):
    """The name with %d for the number of the layer."""
    return re.sub(r"\.\d+\.", ".%d.", name)


def fill(model):
    """Sets all weights; those of norms are near 1, or near 0 where the model adds 1. Returns the shapes
    by pattern, in the order of the tensors' numbers."""
    state = {name: value for name, value in model.state_dict().items()
             if name != "lm_head.weight" or not model.config.tie_word_embeddings}
    shapes = {pattern_of(name): list(value.shape) for name, value in sorted(state.items())}
    number = 0
    for pattern, shape in shapes.items():
        for layer in range(model.config.num_hidden_layers if "%d" in pattern else 1):
            number += 1
            data = torch.tensor([value_of(number, i) for i in range(math.prod(shape))], dtype=torch.float64)
            if len(shape) == 1 and pattern.endswith("weight") and not model.config.model_type.startswith("gemma"):
                data = data + 1
            state[pattern.replace("%d", str(layer))].copy_(data.view(shape))
    return shapes


def lua_list(values):
    return "{ " + ", ".join(values) + " }"


def field(text):
    """A Lua string with the text."""
    return "[==[" + text + "]==]"


def main():
    print("-- lm_families.lua - tiny models and their results by transformers %s; written by tests/models/families.py." % transformers.__version__)
    print("\nreturn {\n  ids = %s," % lua_list(map(str, IDS)))
    for title, kind, options, arch in CASES:
        fields = dict(options) if kind is transformers.GPT2Config else {**SMALL, **options}
        config = kind(**fields)
        config._attn_implementation = "eager"
        model = transformers.AutoModelForCausalLM.from_config(config).eval()
        with torch.no_grad():
            tensors = fill(model)
            model.tie_weights()
            logits = model(torch.tensor([IDS])).logits[0]
        shown = {k: v for k, v in config.to_dict().items() if re.match(SHOWN, k) and v is not None}
        print("  {\n    title = '%s', config = %s," % (title, field(json.dumps(shown))))
        names = gguf.get_tensor_name_map(ARCHITECTURES[arch], 8) if arch else None
        print("    arch = %s, tensors = {" % ("'%s'" % arch if arch else "nil"))
        for name, shape in tensors.items():
            other = names.get_name(name.replace("%d", "0"), try_suffixes=(".weight", ".bias")) if names else None
            other = other and pattern_of(other)
            print("      { '%s', %s%s }," % (name, lua_list(map(str, shape)), ", '%s'" % other if other else ""))
        print("    },\n    logits = {")
        for row in (len(IDS) // 2, len(IDS) - 1):
            print("      %s," % lua_list("%.6g" % x for x in logits[row].tolist()))
        print("    },\n  },")
    print("  encoders = {")
    for title, kind, options in ENCODERS:
        config = kind(vocab_size=24, hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=16,
                      type_vocab_size=2, **options)
        config.tie_word_embeddings = False
        model = transformers.AutoModel.from_config(config, add_pooling_layer=False).eval()
        with torch.no_grad():
            tensors = fill(model)
            vectors = [model(torch.tensor([ids])).last_hidden_state[0].mean(0) for ids in TEXTS]
        shown = {k: v for k, v in config.to_dict().items() if re.match(SHOWN + "|type_vocab|pad_token_id", k) and v is not None}
        print("    {\n      title = '%s', config = %s,\n      tensors = {" % (title, field(json.dumps(shown))))
        for name, shape in tensors.items():
            print("        { '%s', %s }," % (name, lua_list(map(str, shape))))
        print("      },\n      vectors = {")
        for vector in vectors:
            print("        %s," % lua_list("%.6g" % x for x in torch.nn.functional.normalize(vector, dim=0).tolist()))
        print("      },\n    },")
    print("  },\n}")


main()
