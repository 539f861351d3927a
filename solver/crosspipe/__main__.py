"""`python -m crosspipe`: the command line."""

from crosspipe.cli.main import app

if __name__ == "__main__":
    app(prog_name="crosspipe")
