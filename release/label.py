#!/usr/bin/env python3
"""Gives a distribution image the labels from which the operator takes its base config.

usage: label.py [--insecure] [--config-version N] IMAGE CONFIG TARGET

  IMAGE   such as registry.example.com/team/server:1
  CONFIG  the file that the server of this image would start with
  TARGET  the image with the labels; its layers are those of IMAGE, for all machines that IMAGE is for

skopeo reads and writes the registries, and is asked for credentials as it always is (`skopeo login`).
"""

import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

CONFIG_LABEL = "io.llamastack.config.base64"
VERSION_LABEL = "io.llamastack.config.version"
# What the operator reads at most; a ConfigMap holds no more.
LARGEST = 1 << 20


class Layout:
    """An OCI layout in a folder."""

    def __init__(self, folder):
        self.blobs = pathlib.Path(folder, "blobs", "sha256")
        self.index = pathlib.Path(folder, "index.json")

    def read(self, descriptor):
        return json.loads((self.blobs / descriptor["digest"].removeprefix("sha256:")).read_bytes())

    def write(self, value):
        """Stores a JSON document; what a descriptor says of it."""
        text = json.dumps(value).encode()
        digest = hashlib.sha256(text).hexdigest()
        (self.blobs / digest).write_bytes(text)
        return {"digest": f"sha256:{digest}", "size": len(text)}

    def labelled(self, descriptor, labels):
        """The descriptor of the same image, or list of images, with labels."""
        manifest = self.read(descriptor)
        if "manifests" in manifest:
            manifest["manifests"] = [self.labelled(one, labels) for one in manifest["manifests"]]
        elif any(layer["mediaType"].startswith("application/vnd.in-toto") for layer in manifest["layers"]):
            # How an image was made stands beside it in its list, and is none.
            return descriptor
        else:
            config = self.read(manifest["config"])
            settings = config.get("config") or {}
            config["config"] = {**settings, "Labels": {**(settings.get("Labels") or {}), **labels}}
            manifest["config"].update(self.write(config))
        return {**descriptor, **self.write(manifest)}


def copy(source, target, options):
    run = subprocess.run(["skopeo", "copy", "--quiet", "--all", "--format", "oci", *options, source, target])
    if run.returncode != 0:
        sys.exit(f"label.py: {source} was not copied to {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--insecure", action="store_true", help="ask the registries over HTTP, too")
    parser.add_argument("--config-version", help="the version of the config's format, for the label of that")
    parser.add_argument("image")
    parser.add_argument("config", type=pathlib.Path)
    parser.add_argument("target")
    asked = parser.parse_args()
    try:
        text = asked.config.read_bytes()
        text.decode()
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"label.py: {asked.config} cannot be read: {error}")
    if not text.strip() or len(text) > LARGEST:
        sys.exit(f"label.py: {asked.config} has {len(text)} bytes: a config has between 1 and {LARGEST}")
    labels = {CONFIG_LABEL: base64.b64encode(text).decode()}
    if asked.config_version:
        labels[VERSION_LABEL] = asked.config_version
    with tempfile.TemporaryDirectory() as folder:
        tls = "--{}-tls-verify=false"
        copy(f"docker://{asked.image}", f"oci:{folder}:image", [tls.format("src")] if asked.insecure else [])
        layout = Layout(folder)
        index = json.loads(layout.index.read_text())
        index["manifests"] = [layout.labelled(one, labels) for one in index["manifests"]]
        layout.index.write_text(json.dumps(index))
        copy(f"oci:{folder}:image", f"docker://{asked.target}", [tls.format("dest")] if asked.insecure else [])
        print(f"{asked.target}@{index['manifests'][0]['digest']}")


main()
