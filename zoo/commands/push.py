"""`zoo push`: a trained network to the Hugging Face hub, or into a folder of the same files."""

import argparse
import tempfile
from pathlib import Path

from zoo.commands import CHECKPOINT, new_parser
from zoo.errors import CheckpointError, ConfigError
from zoo.run.folder import is_empty
from zoo.run.weights import HUB, locate, model_card, result_of, write_folder

ABOUT = "upload a trained network with its vocabulary and a model card to the Hugging Face hub"


def parser() -> argparse.ArgumentParser:
    """Return the parser of `zoo push`."""
    push = new_parser("push", ABOUT)
    push.add_argument("checkpoint", help=CHECKPOINT)
    push.add_argument("repo", metavar="USER/REPO", help="zoo.load('hub:USER/REPO') then loads it")
    push.add_argument("--folder", type=Path, metavar="DIR", help="write the files into this folder; upload nothing")
    push.add_argument("--private", action="store_true", help="make a new repository private")
    return push


def run(words: list[str]) -> None:
    """Write the files, and upload them unless --folder is given."""
    from zoo.run.checkpoint import read_checkpoint

    options = parser().parse_args(words)
    path = locate(options.checkpoint)
    content = read_checkpoint(path)
    card = model_card(content, result_of(path), HUB + options.repo)
    if options.folder is not None:
        if options.folder.exists() and not (options.folder.is_dir() and is_empty(options.folder)):
            raise ConfigError(f"--folder {options.folder}: it exists and is not empty; give a new folder")
        write_folder(options.folder, content, card)
        print(f"wrote {options.folder}; zoo.load({str(options.folder)!r}) loads it")
        return
    with tempfile.TemporaryDirectory() as folder:
        write_folder(Path(folder), content, card)
        print(f"uploaded to {_upload(Path(folder), options.repo, private=options.private)}")


def _upload(folder: Path, repo: str, *, private: bool) -> str:
    """Upload a folder and return the address of its repository. Raises CheckpointError where the hub refuses."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    hub = HfApi()
    try:
        address = hub.create_repo(repo, private=private, exist_ok=True)
        hub.upload_folder(repo_id=repo, folder_path=folder)
    except HFValidationError as error:
        raise CheckpointError(f"{repo}: expected USER/REPO") from error
    except HfHubHTTPError as error:
        raise CheckpointError(f"{repo}: the hub refuses the upload ({error}); log in with hf auth login") from error
    except Exception as error:  # the library's versions use different clients, each with its own error for no network
        raise CheckpointError(
            f"{repo}: the hub cannot be reached ({error}); --folder DIR writes the files without uploading them"
        ) from error
    return str(address)
