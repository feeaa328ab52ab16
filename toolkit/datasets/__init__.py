"""One file a data set; ``toolkit.dataset.read`` finds it by the files of a folder."""
