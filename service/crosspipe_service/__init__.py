"""The CrossPipe service: HTTP around the library; `app.create_app` builds it, `run.main` serves it."""
