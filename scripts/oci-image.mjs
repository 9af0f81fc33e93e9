// An image of one layer, as a tar archive in the layout of the Open Container Initiative (image-layout.md, manifest.md):
//
//   node oci-image.mjs LAYER.TAR ARCHITECTURE VERSION IMAGE.TAR
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";

const [, , layerPath, architecture, version, imagePath] = process.argv;
const place = mkdtempSync(join(dirname(imagePath), "oci-"));
mkdirSync(`${place}/blobs/sha256`, { recursive: true });
const digest = (bytes) => createHash("sha256").update(bytes).digest("hex");

function blob(mediaType, bytes) {
    const id = digest(bytes);
    writeFileSync(`${place}/blobs/sha256/${id}`, bytes);
    return { mediaType, digest: `sha256:${id}`, size: bytes.length };
}

const json = (value) => Buffer.from(JSON.stringify(value));
const layer = readFileSync(layerPath);
const config = {
    architecture,
    os: "linux",
    config: {
        Entrypoint: ["/usr/bin/rabbitscope"],
        Env: ["PATH=/usr/bin", "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt"],
        WorkingDir: "/tmp",
        // No account. A container that needs root states it in its manifest (deploy/kubernetes/watch.yaml).
        User: "65534:65534",
        Labels: { "org.opencontainers.image.title": "rabbitscope", "org.opencontainers.image.version": version },
    },
    rootfs: { type: "layers", diff_ids: [`sha256:${digest(layer)}`] },
    history: [{ created_by: "scripts/dist.sh" }],
};
const manifest = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: blob("application/vnd.oci.image.config.v1+json", json(config)),
    layers: [blob("application/vnd.oci.image.layer.v1.tar+gzip", gzipSync(layer, { level: 9 }))],
};
const described = blob(manifest.mediaType, json(manifest));
const platform = { architecture, os: "linux" };
const annotations = { "org.opencontainers.image.ref.name": version };
writeFileSync(`${place}/oci-layout`, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
writeFileSync(
    `${place}/index.json`,
    JSON.stringify({
        schemaVersion: 2,
        mediaType: "application/vnd.oci.image.index.v1+json",
        manifests: [{ ...described, platform, annotations }],
    }),
);
execFileSync("tar", ["-C", place, "--owner=0", "--group=0", "--sort=name", "--mtime=@0", "-cf", imagePath, "."]);
rmSync(place, { recursive: true });
