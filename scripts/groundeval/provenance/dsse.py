"""Signatures: a DSSE envelope around a Statement, ed25519, offline.

Source: github.com/secure-systems-lab/dsse, protocol.md and envelope.md, version 1.0.2.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from groundeval.errors import InputError

PAYLOAD = "application/vnd.in-toto+json"
_RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def seal(content: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The envelope of a Statement."""
    body = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    signature = {"keyid": key_id(key.public_key()), "sig": _text(key.sign(_encoded(body)))}
    return {"payload": _text(body), "payloadType": PAYLOAD, "signatures": [signature]}


def opened(envelope: Any, key: Ed25519PublicKey) -> dict[str, Any]:
    """The Statement in an envelope that this key signed. ValueError, saying why, for any other."""
    try:
        if envelope["payloadType"] != PAYLOAD:
            raise ValueError(f"it holds {envelope['payloadType']!r}, expected {PAYLOAD!r}")
        body = base64.b64decode(envelope["payload"], validate=True)
        signatures = [(str(s["keyid"]), base64.b64decode(s["sig"], validate=True)) for s in envelope["signatures"]]
    except (KeyError, TypeError, binascii.Error) as error:
        raise ValueError(f"it is no DSSE envelope ({type(error).__name__}: {error})") from None
    if not any(_right(key, signature, body) for _, signature in signatures):
        ids = [known for known, _ in signatures]
        if key_id(key) in ids:
            raise ValueError("the signature does not fit: what is signed was altered")
        raise ValueError(f"another key signed it: {', '.join(i[:12] for i in ids)}..., expected {key_id(key)[:12]}...")
    content: dict[str, Any] = json.loads(body)
    return content


def key_id(key: Ed25519PublicKey) -> str:
    """sha256 of the 32 bytes of a public key, in hex."""
    return hashlib.sha256(key.public_bytes(*_RAW)).hexdigest()


def private_key(path: Path) -> Ed25519PrivateKey:
    """An unencrypted ed25519 key in PEM. InputError for anything else."""
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise InputError(path, f"no private key that can be read ({error})", _MAKE) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(path, "not an ed25519 key", _MAKE)
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """An ed25519 public key in PEM. InputError for anything else, a private key among them: an auditor has no use for one."""
    try:
        key = serialization.load_pem_public_key(path.read_bytes())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(path, f"no public key that can be read ({error})", "Name the signer's .pub file.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(path, "not an ed25519 key", "Name the signer's .pub file.")
    return key


def make_key(path: Path) -> Path:
    """Write a new key pair, `path` (for the owner's eyes only) and `path`.pub; nothing is overwritten."""
    public = path.with_name(path.name + ".pub")
    for file in (path, public):
        if file.exists():
            raise InputError(file, "stands there already", "Name another file: a lost key cannot be made again.")
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(secret)
    told = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    public.write_bytes(told)
    return public


_MAKE = "Make one with `groundeval sign --make-key FILE`, or `openssl genpkey -algorithm ed25519`."


def _right(key: Ed25519PublicKey, signature: bytes, body: bytes) -> bool:
    try:
        key.verify(signature, _encoded(body))
    except InvalidSignature:
        return False
    return True


def _encoded(body: bytes) -> bytes:
    """PAE: what is signed is the payload with its type and both lengths."""
    return b"DSSEv1 %d %s %d %s" % (len(PAYLOAD), PAYLOAD.encode(), len(body), body)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
