#!/bin/sh
# Files to install without Rust, clang and Node.js: a program for this system's C library or a later one, a package for
# Debian and Ubuntu, an archive, and an image for containers. Leaves all in target/dist. Build on the oldest target
# system.
#
#   ARCH=aarch64 scripts/dist.sh      # for another architecture than this machine's, with its cross compiler
set -eu
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
machine=${ARCH:-$(uname -m)}
case $machine in
x86_64) architecture=amd64 ;;
aarch64) architecture=arm64 ;;
*)
    echo "$machine: x86_64 and aarch64 are known" >&2
    exit 2
    ;;
esac
dist=target/dist
build=${CARGO_TARGET_DIR:-target}/release
tools=
libraries=
set --
if [ "$machine" != "$(uname -m)" ]; then
    target=$machine-unknown-linux-gnu
    tools=$machine-linux-gnu-
    # Place of the C library of Debian's cross compilers.
    libraries=/usr/$machine-linux-gnu/lib
    command -v "${tools}gcc" >/dev/null 2>&1 || {
        echo "${tools}gcc is missing: apt-get install gcc-$(echo "$machine" | tr _ -)-linux-gnu" >&2
        exit 1
    }
    rustup target list --installed | grep -qx "$target" || rustup target add "$target"
    export "CARGO_TARGET_$(echo "$target" | tr a-z- A-Z_)_LINKER=${tools}gcc"
    build=${CARGO_TARGET_DIR:-target}/$target/release
    set -- --target "$target"
fi
rm -rf "$dist"
mkdir -p "$dist"
cargo build --locked --release --package rabbitscope "$@"
cargo run --locked --quiet --package rabbitscope --example manual "$dist/manual"
tree=$dist/tree
mkdir -p "$tree/usr/bin" "$tree/usr/share/man/man1" "$tree/usr/share/doc/rabbitscope/scenarios" \
    "$tree/usr/share/bash-completion/completions" "$tree/usr/share/zsh/vendor-completions" \
    "$tree/usr/share/fish/vendor_completions.d"
"${tools}strip" --strip-debug -o "$tree/usr/bin/rabbitscope" "$build/rabbitscope"
cp "$dist"/manual/man1/*.1 "$tree/usr/share/man/man1/"
gzip -9n "$tree"/usr/share/man/man1/*.1
cp "$dist/manual/completions/rabbitscope.bash" "$tree/usr/share/bash-completion/completions/rabbitscope"
cp "$dist/manual/completions/_rabbitscope" "$tree/usr/share/zsh/vendor-completions/"
cp "$dist/manual/completions/rabbitscope.fish" "$tree/usr/share/fish/vendor_completions.d/"
cp README.md CHANGELOG.md "$tree/usr/share/doc/rabbitscope/"
cp -R docs "$tree/usr/share/doc/rabbitscope/"
cp scenarios/*.toml "$tree/usr/share/doc/rabbitscope/scenarios/"
cat LICENSE-MIT LICENSE-APACHE >"$tree/usr/share/doc/rabbitscope/copyright"

# The latest version of the C library that the program needs.
glibc=$("${tools}objdump" -T "$tree/usr/bin/rabbitscope" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -V | tail -n 1)
name=rabbitscope-$version-linux-$architecture

tar -C "$tree/usr" --owner=0 --group=0 --sort=name --mtime=@0 -czf "$dist/$name.tar.gz" .

package=$dist/package
cp -r "$tree" "$package"
mkdir "$package/DEBIAN"
size=$(du -sk "$tree" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" -e "s/@GLIBC@/$glibc/" \
    packaging/control.in >"$package/DEBIAN/control"
cp packaging/postinst "$package/DEBIAN/"
chmod 755 "$package/usr/bin/rabbitscope" "$package/DEBIAN/postinst"
dpkg-deb --root-owner-group --build "$package" "$dist/rabbitscope_${version}_$architecture.deb" >/dev/null

# The libraries of the program, with their paths. For another architecture those of the cross compiler, with their
# paths on a machine of that architecture.
linked() {
    if [ -z "$libraries" ]; then
        ldd "$tree/usr/bin/rabbitscope" | grep -o '/[^ ]*' | while read -r library; do echo "$library $library"; done
        return
    fi
    loader=$("${tools}readelf" -l "$tree/usr/bin/rabbitscope" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
    echo "$libraries/$(basename "$loader") $loader"
    "${tools}objdump" -p "$tree/usr/bin/rabbitscope" | sed -n 's/^ *NEEDED *//p' | while read -r library; do
        echo "$libraries/$library /lib/$machine-linux-gnu/$library"
    done
}

# The image has the program, its libraries, and certificates.
image=$dist/image
cp -r "$tree" "$image"
linked | while read -r library place; do
    mkdir -p "$image$(dirname "$place")"
    cp -L "$library" "$image$place"
done
mkdir -p "$image/etc/ssl/certs" "$image/tmp"
chmod 1777 "$image/tmp"
cp -L /etc/ssl/certs/ca-certificates.crt "$image/etc/ssl/certs/"
tar -C "$image" --owner=0 --group=0 --numeric-owner --sort=name --mtime=@0 -cf "$dist/layer.tar" .
node scripts/oci-image.mjs "$dist/layer.tar" "$architecture" "$version" "$dist/$name.oci.tar"

rm -rf "$tree" "$package" "$image" "$dist/layer.tar" "$dist/manual"
echo "needs the C library from version $glibc on"
ls -l "$dist" | awk 'NR > 1 { printf "%s  %.1f MB\n", $9, $5 / 1e6 }'
