#!/bin/sh
# The packages of make deb where nothing else is: installed in a bare Debian, used as their readers use them, and taken out again.
# As root, with debootstrap and a network; BARE names a folder with a bare Debian, which is copied instead. Uses $VERSION, dist/.
set -eu
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
passed=0
sh packaging/bare/make.sh "$root"
find "$root" -xdev -name '*ltensor*' >"$work/before"
mkdir "$root/packages"
cp dist/*_"$VERSION"_*.deb "$root/packages/"
run() { sh packaging/bare/run.sh "$root" "$@"; }
fail() {
    echo "deb.sh: $1" >&2
    [ ! -f "$work/out" ] || tail -n 30 "$work/out" >&2
    exit 1
}
# install PACKAGE...: ours begin with a dot.
install_packages() {
    run sh -c 'cd /packages && apt-get -qq install -y --no-install-recommends "$@"' sh "$@" >"$work/out" 2>&1 || fail "could not install $*"
}
# expect TEXT COMMAND...: what the command says has it.
expect() {
    text=$1
    shift
    run "$@" >"$work/out" 2>&1 || fail "failed: $*"
    grep -qF -e "$text" "$work/out" || fail "no '$text' from: $*"
    passed=$((passed + 1))
}
run apt-get -qq update >"$work/out" 2>&1 || fail 'apt-get update'
architecture=$(run dpkg --print-architecture)

# ---- the program, without what is only recommended ----
install_packages "./libltensor0_${VERSION}_$architecture.deb" "./ltensor_${VERSION}_$architecture.deb"
expect "ltensor $VERSION" ltensor --version
expect '6.0' ltensor -e 'print(torch.ones(2, 3):sum():item())'
expect 'missing  oneDNN' ltensor --doctor
documents=/usr/share/doc/ltensor
for gpus in 0 2; do
    expect ' 0 failed' ltensor --sim-gpus $gpus --cells --check $documents/notebooks/use-gpu.md
done
expect ' 0 failed' ltensor --cells --check $documents/guide/tutorial.md
expect 'ltensor' sh -c 'cat /usr/share/jupyter/kernels/ltensor/kernel.json'
for file in man/man1/ltensor.1.gz bash-completion/completions/ltensor zsh/vendor-completions/_ltensor fish/vendor_completions.d/ltensor.fish; do
    [ -f "$root/usr/share/$file" ] || fail "/usr/share/$file is not there"
done

# ---- what is recommended; the module for lua5.4 ----
install_packages libopenblas0-openmp libdnnl2 libpng16-16 libturbojpeg0 lua5.4
for library in LAPACK oneDNN libpng TurboJPEG; do
    expect "ok       $library" ltensor --doctor
done
expect 'tensor([0, 1, 2, 3])' lua5.4 -e "print(require 'torch'.arange(4))"
expect '3.0' env LTENSOR_SIM_GPUS=1 lua5.4 -e "print(require 'torch'.ones(3, {device = 'cuda'}):sum():item())"

# ---- the backend for GPUs of NVIDIA, where make deb had nvcc; there is no driver here ----
cuda=ltensor-cuda_${VERSION}_$architecture.deb
if [ -f "dist/$cuda" ]; then
    install_packages "./$cuda"
    expect 'ok       CUDA backend' ltensor --doctor
    expect 'no CUDA GPUs are available: no NVIDIA driver was found on this system' ltensor --doctor
    expect ' 0 failed' ltensor --sim-gpus 0 --cells --check $documents/notebooks/use-gpu.md
    expect 'no NVIDIA driver was found' ltensor -e "print(select(2, pcall(torch.ones, 2, {device = 'cuda'})))"
else
    echo 'deb.sh: make deb made no ltensor-cuda, for want of nvcc' >&2
fi

# ---- programs that are built with the library ----
install_packages "./libltensor-dev_${VERSION}_$architecture.deb" gcc libc6-dev pkg-config
for kind in '' -static; do
    # shellcheck disable=SC2016
    run sh -c 'set -e; cd /usr/share/doc/libltensor-dev/examples
        cc -std=c99 -Wall -Wextra -Werror train.c $(pkg-config --cflags --libs "ltensor$1") -o "/tmp/train$1"
        cc -std=c99 -Wall -Wextra -Werror host.c $(pkg-config --cflags --libs "ltensor_lua$1") -o "/tmp/host$1"' sh "$kind" \
        >"$work/out" 2>&1 || fail "the examples are not built with ltensor$kind"
    expect '% of the points are on the right side' "/tmp/train$kind" /tmp/network.safetensors
    expect 'the script added 1 to our own buffer: 2' "/tmp/host$kind"
done

# ---- and out again ----
run sh -c 'apt-get -qq purge -y "?and(?installed,?name(ltensor))" && rm -r /packages /tmp/*' >"$work/out" 2>&1 || fail 'could not be purged'
find "$root" -xdev -name '*ltensor*' | diff "$work/before" - || fail 'something was left behind'
passed=$((passed + 1))
echo "$passed passed, 0 failed"
