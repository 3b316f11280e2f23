"""Find a dataset's files in the data folder or the cache, or download them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from unchurn.core.errors import InputError
from unchurn.core.progress import progress_bar
from unchurn.datasets.base import RemoteFile, Source


def cache_dir() -> Path:
    """The folder for downloads and converted files: UNCHURN_CACHE or the system's cache folder."""
    import pooch

    return Path(os.environ.get("UNCHURN_CACHE") or pooch.os_cache("unchurn"))


def data_folder(data_dir: Path | None) -> Path | None:
    """The user's own folder of data files: `data_dir`, otherwise UNCHURN_DATA; None if neither."""
    if data_dir is not None:
        folder, name = data_dir, "data_dir"
    elif os.environ.get("UNCHURN_DATA"):
        folder, name = Path(os.environ["UNCHURN_DATA"]), "UNCHURN_DATA"
    else:
        return None
    if not folder.is_dir():
        raise InputError(f"{name} is {folder}, which is not a folder")
    return folder


def locate(file: RemoteFile, data_dir: Path | None) -> Path | None:
    """The path of a file that is already here; the data folder takes precedence over the cache."""
    return in_data_folder(file, data_dir) or _existing(cache_dir() / file.path)


def whereabouts(source: Source) -> str:
    """Where a dataset's files are: "embedded", "data folder", "cache", "no", or "1 of 4"."""
    if needs_none(source):
        return "embedded"
    places = [locate(file, None) for file in source.files]
    found = [place for place in places if place is not None]
    if len(found) < len(places):
        return f"{len(found)} of {len(places)}" if found else "no"
    return "cache" if all(cache_dir() in place.parents for place in found) else "data folder"


def needs_none(source: Source) -> bool:
    """Whether a dataset needs no file; files in the data folder take precedence over embedded."""
    if source.is_embedded:
        return not any(in_data_folder(file, None) for file in source.files)
    return not source.files


def obtain(
    files: Sequence[RemoteFile], data_dir: Path | None
) -> tuple[list[Path], tuple[str, ...]]:
    """The paths of all files, downloaded if missing; and notes on files not as published."""
    paths, notes = [], []
    for file in files:
        path = in_data_folder(file, data_dir)
        if path is None:
            path = fetch(file)  # verifies a file in the cache, and fetches it again if damaged
        elif path.name == Path(file.path).name and not _as_published(path, file):
            notes.append(f"{path}: not the published file (its checksum differs), used as it is")
        paths.append(path)
    return paths, tuple(notes)


def in_data_folder(file: RemoteFile, data_dir: Path | None) -> Path | None:
    """The path of the file, or of its replacement, in the user's own folder; None if missing."""
    folder = data_folder(data_dir)
    if folder is None:
        return None
    instead = _existing(folder / file.instead) if file.instead else None
    return _existing(folder / file.path) or instead


def _existing(path: Path) -> Path | None:
    return path if path.exists() else None


def fetch(file: RemoteFile) -> Path:
    """Download a file into the cache unless it is there; resumes a broken download."""
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    target = cache_dir() / file.path
    try:
        pooch.retrieve(
            file.url,
            known_hash=f"sha256:{file.sha256}",
            fname=target.name,
            path=target.parent,
            downloader=partial(_download, part=target.with_name(target.name + ".part"), file=file),
        )
    except requests.RequestException as error:
        raise InputError(
            f"{file.path} is not here and cannot be downloaded ({_reason(error)}): try again, or "
            f"get {file.url} by hand and put it at {file.path} in a folder that UNCHURN_DATA names"
        ) from error
    except InputError:
        raise
    except OSError as error:  # requests' errors are OSErrors, too, and were caught above
        raise InputError(f"cannot write {target}: {error.strerror or error}") from error
    except ValueError as error:  # pooch raises it for a wrong checksum, and names both
        raise InputError(f"{file.url}: {error}") from error
    return target


def _download(url: str, output: str, _: object, *, part: Path, file: RemoteFile) -> None:
    """Downloader for pooch that appends what is missing to `part`, then moves it to `output`."""
    import requests

    done = part.stat().st_size if part.exists() else 0
    if done < file.size:
        # "identity": the checksum is of the file as published, not of its decompressed content.
        headers = {"Accept-Encoding": "identity", "Range": f"bytes={done}-"}
        with requests.get(url, headers=headers, stream=True, timeout=30) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                part.unlink()  # it is not a part of this file: the next try starts over
            response.raise_for_status()
            if response.status_code != requests.codes.partial_content:
                done = 0  # a server that cannot resume sends everything
            with (
                part.open("ab" if done else "wb") as out,
                progress_bar(part.stem, file.size, done=done, bytes_=True) as advance,
            ):
                for chunk in response.iter_content(1 << 20):
                    done += len(chunk)
                    if done > file.size:  # no server may fill the disk
                        out.close()
                        part.unlink()
                        raise InputError(
                            f"{url}: sends more than the {file.size:,} bytes that were published"
                        )
                    out.write(chunk)
                    advance(len(chunk))
    part.replace(output)


def _as_published(path: Path, file: RemoteFile) -> bool:
    """Whether a local file is the published one, byte for byte."""
    import pooch

    return bool(pooch.file_hash(str(path), alg="sha256") == file.sha256)


def _reason(error: Exception) -> str:
    """A short reason for a failed download; libraries' own are nested several layers deep."""
    response = getattr(error, "response", None)
    return (
        f"{response.status_code} {response.reason}"
        if response is not None
        else type(error).__name__
    )
