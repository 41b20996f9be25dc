"""Writes tests/files/tokenizers: small tokenizers and their results on texts, by Hugging Face's tokenizers.

    python tests/files/generate_tokenizers.py

Needs the packages tokenizers (0.23) and sentencepiece (0.2) of PyPI. The files are kept, so only people who extend them need it.
cases.json maps the name of a file to rows of a text, its ids, the ids without special tokens, and the texts of the ids with and
without special tokens. Texts are hexadecimal digits of their bytes.
"""

import json
import pathlib
import tempfile

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = HERE / "tokenizers"
DOCS = HERE.parent.parent / "docs"

LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXTS = [
    "", " ", "Hello world", "  two spaces\n\n\tand a tab \r\n", "it's we'VE I'LL '\u017f don't", "x = y[1:2] -> 0x1F; // 3.14e-5",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u4f60\u597d\u4e16\u754c\uff01 \u3053\u3093\u306b\u3061\u306f \uc548\ub155 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35",
    "\U0001f642\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd", "e\u0301\u0130\u00df\ufb01\u00bd\u2460\u1e9b\u0323",
    "1234567 \u0661\u0662\u0663 \u2167", "a\u180eb\u200bc\ufeffd\u00a0e\u0085f\u3000g", "<|endoftext|>a <mask> b  <mask>", "[CLS] [MASK] sword word  two",
    "<s>\u2581\u2581a</s> <0x0A> \u2581", "\u1100\u1161\u11a8 \u0928\u093f \u05e9\u05b8 \u0627\u064e", "Stra\u00dfe Caf\u00e9 na\u00efve \u00c5ngstr\u00f6m",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "a.b,c!d?e'f \"g\" (h) do not",
    "\x00\x01\x7f\ufffd\ue000", "\u0413\u0413\u0413\u2028\u2029.", "tokenizer tensors training gradients", "   leading", "trailing   ",
]  # fmt: skip
BROKEN = [b"\xff", b"a\xc3", b"\xe2\x82 b", b"\xf0\x9f\x99 \xed\xa0\x80", b"\xc0\xaf\xe4\xbd\xa0\x80", b"\xf4\x90\x80\x80\xf8x"]


def corpus():
    pages = [DOCS / "guide/tutorial.md", DOCS / "zh/start.md", DOCS / "guide/tensors.md"]
    return [line for page in pages for line in page.read_text().split("\n")] + TEXTS * 3


def train(tokenizer, trainer):
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def byte_level(pre_tokenizer, normalizer=None, size=420, **options):
    t = Tokenizer(models.BPE(**{k: v for k, v in options.items() if k in ("end_of_word_suffix", "unk_token")}))
    t.pre_tokenizer, t.decoder = pre_tokenizer, decoders.ByteLevel()
    if normalizer:
        t.normalizer = normalizer
    return train(t, trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
        special_tokens=["<s>", "</s>", "<|endoftext|>"], **{k: v for k, v in options.items() if k == "end_of_word_suffix"}))  # fmt: skip


def gpt2():
    return byte_level(pre_tokenizers.ByteLevel(add_prefix_space=False))


def llama3():
    split = pre_tokenizers.Split(Regex(LLAMA3), "isolated")
    return byte_level(pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), normalizers.NFC())


def roberta():
    t = byte_level(pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=True)]))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, rstrip=True)])
    t.add_tokens([AddedToken("word", single_word=True, normalized=False), "  two"])
    t.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0))
    return t


def clip():
    pattern = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    pre = pre_tokenizers.Sequence([pre_tokenizers.Split(pattern, "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    norm = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    return byte_level(pre, norm, end_of_word_suffix="</w>", unk_token="<|endoftext|>")


def word_piece(pre_tokenizer, normalizer, cleanup=True, **options):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", **options))
    t.pre_tokenizer, t.decoder = pre_tokenizer, decoders.WordPiece(cleanup=cleanup)
    if normalizer:
        t.normalizer = normalizer
    train(t, trainers.WordPieceTrainer(vocab_size=400, limit_alphabet=150, show_progress=False, special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    return t


def split(pattern, behavior):
    return word_piece(pre_tokenizers.Split(Regex(pattern), behavior), None)


def unigram(normalizer, pre_tokenizer, decoder, **options):
    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer, t.decoder = normalizer, pre_tokenizer, decoder
    train(t, trainers.UnigramTrainer(vocab_size=400, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"], show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    if options:
        described = json.loads(t.to_str())
        described["model"].update(options)
        t = Tokenizer.from_str(json.dumps(described))
    return t


def charsmap():
    """A map of characters by SentencePiece's own trainer, from four rules."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "rules.tsv").write_text("41\t61\nFB01\t66 69\n1F642\t3A 29\n65 301\tE9\nFF01\t21\n")
        (path / "text.txt").write_text("\n".join(corpus()))
        sentencepiece.SentencePieceTrainer.train(
            input=str(path / "text.txt"), model_prefix=str(path / "m"), vocab_size=300, character_coverage=0.98,
            normalization_rule_tsv=str(path / "rules.tsv"), minloglevel=2)  # fmt: skip
        from sentencepiece import sentencepiece_model_pb2

        model = sentencepiece_model_pb2.ModelProto()
        model.ParseFromString((path / "m.model").read_bytes())
        return model.normalizer_spec.precompiled_charsmap


def llama2():
    t = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    words = [word for line in corpus() for word in line.split(" ") if len(word) < 30]
    specials = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    t.train_from_iterator(words, trainers.BpeTrainer(vocab_size=600, limit_alphabet=90, special_tokens=specials, show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    described = json.loads(t.to_str())
    described["added_tokens"] = described["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(described))


def tokenizers():
    bert = pre_tokenizers.BertPreTokenizer()
    nmt = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")])
    strip = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    yield "gpt2", gpt2()
    yield "llama3", llama3()
    yield "roberta", roberta()
    yield "clip", clip()
    yield "llama2", llama2()
    yield "bert", word_piece(bert, normalizers.BertNormalizer())
    yield "bert_cased", word_piece(bert, normalizers.BertNormalizer(lowercase=False, strip_accents=True, handle_chinese_chars=False), False)
    yield "unigram", unigram(nmt, pre_tokenizers.Metaspace(), decoders.Metaspace())
    first = {"replacement": "\u2581", "prepend_scheme": "first"}
    yield "unigram_whole", unigram(strip, pre_tokenizers.Metaspace(split=False, **first), decoders.Metaspace(**first))
    yield "charsmap", unigram(normalizers.Precompiled(charsmap()), pre_tokenizers.Metaspace(), decoders.Metaspace())
    yield "whitespace", word_piece(pre_tokenizers.Whitespace(), None, max_input_chars_per_word=20)
    yield "punctuation", word_piece(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("contiguous")]), None)
    yield "previous", split("[a-e]", "merged_with_previous")
    yield "next", split(r"\w\d?", "merged_with_next")
    yield "contiguous", split(r"\s", "contiguous")
    yield "delimiter", word_piece(pre_tokenizers.CharDelimiterSplit("e"), None)


def main():
    cases = {}
    FOLDER.mkdir(exist_ok=True)
    for name, t in tokenizers():
        described = json.loads(t.to_str())
        (FOLDER / f"{name}.json").write_text(json.dumps(described, ensure_ascii=False, separators=(",", ":")) + "\n")
        t = Tokenizer.from_file(str(FOLDER / f"{name}.json"))
        rows = []
        for raw in [text.encode() for text in TEXTS] + BROKEN:
            text = raw.decode(errors="replace")
            ids = t.encode(text).ids
            decoded = [t.decode(ids, skip_special_tokens=skip).encode().hex() for skip in (False, True)]
            rows.append([raw.hex(), ids, t.encode(text, add_special_tokens=False).ids, *decoded])
        cases[name] = rows
    (FOLDER / "cases.json").write_text(json.dumps(cases, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
