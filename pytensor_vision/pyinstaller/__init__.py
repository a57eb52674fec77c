"""Hooks of PyInstaller, which reads no ``.pth`` file and doesn't find what the graft adds."""

import os


def hook_directories():
    """List the folders with hooks: the entry point ``pyinstaller40`` names this function."""
    return [os.path.dirname(__file__)]
