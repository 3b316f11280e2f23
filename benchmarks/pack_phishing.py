"""Write the Phishing data that the package embeds, from the publisher's ARFF file, byte for byte.

`python benchmarks/pack_phishing.py` takes the file from UNCHURN_DATA or the cache, or downloads it.
"""

from unchurn.datasets.embedded import PHISHING_FILE, pack
from unchurn.datasets.find import obtain
from unchurn.datasets.phishing import PHISHING, read


def main() -> None:
    """Pack the file, and say where it is."""
    (path,), notes = obtain(PHISHING.files, None)
    if notes:
        raise SystemExit("\n".join(notes))  # only what was published is embedded
    pack(read(path))
    print(f"wrote {PHISHING_FILE}")


if __name__ == "__main__":
    main()
