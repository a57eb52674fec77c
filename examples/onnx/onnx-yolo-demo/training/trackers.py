"""Optional trackers of a run's curves: Weights & Biases and TensorBoard.

Neither package is needed unless its option is given.
"""

import importlib

PACKAGES = {"wandb": "wandb", "tensorboard": "tensorboardX"}


class TrackerError(Exception):
    """A tracker was asked for that isn't installed."""


class Trackers:
    """Sends each epoch's row to the trackers asked for.

    A tracker that fails (no network, a full disk) is switched off with one warning: the run and
    its own files don't depend on it.

    Parameters
    ----------
    folder : Path
        Of the run; TensorBoard's files go into ``folder/tensorboard``.
    wandb : str, optional
        Project to log to.
    tensorboard : bool
    say : callable of str
        For warnings.

    Raises
    ------
    TrackerError
        A package isn't installed.
    """

    def __init__(self, folder, wandb=None, tensorboard=False, say=print):
        self.folder, self.project, self.say = folder, wandb, say
        self.modules = {}
        self.open = {}  # name -> (log(row), close())
        for name, wanted in [("wandb", wandb is not None), ("tensorboard", tensorboard)]:
            if wanted:
                self.modules[name] = self._import(name)

    @staticmethod
    def _import(name):
        package = PACKAGES[name]
        try:
            return importlib.import_module(package)
        except ImportError as error:
            raise TrackerError(
                f"--{name} needs the package {package} ({error}); install it with "
                f"pip install {package}, or leave the option out"
            ) from None

    def start(self, run_id, settings, epoch):
        """Open the trackers.

        Parameters
        ----------
        run_id : str
            The same for every session of a run.
        settings : dict
            Shown beside the curves.
        epoch : int
            Epochs that are done; rows of later ones, from a session that was lost, are hidden.
        """
        for name in self.modules:
            self._guard(name, getattr(self, f"_start_{name}"), run_id, settings, epoch)

    def _start_wandb(self, run_id, settings, epoch):
        run = self.modules["wandb"].init(
            project=self.project,
            name=self.folder.name,
            dir=str(self.folder),
            id=run_id,
            resume="allow",
            config=settings,
        )
        self.open["wandb"] = (lambda row: run.log(row, step=row["epoch"]), run.finish)

    def _start_tensorboard(self, run_id, settings, epoch):
        writer = self.modules["tensorboard"].SummaryWriter(
            str(self.folder / "tensorboard"), purge_step=epoch + 1
        )

        def log(row):
            for key, value in row.items():
                writer.add_scalar(key, value, row["epoch"])
            writer.flush()

        self.open["tensorboard"] = (log, writer.close)

    def log(self, row):
        """Send a row of results.csv; what is None in it is left out."""
        row = {key: value for key, value in row.items() if value is not None}
        for name in list(self.open):
            self._guard(name, self.open[name][0], row)

    def close(self):
        """Let the trackers finish."""
        for name in list(self.open):
            self._guard(name, self.open[name][1])
        self.open.clear()

    def _guard(self, name, call, *args):
        try:
            call(*args)
        # Whatever another's package may raise.
        except Exception as error:
            self.open.pop(name, None)
            reason = " ".join(str(error).split()) or type(error).__name__
            self.say(f"warning: --{name} failed and is switched off: {reason}")
