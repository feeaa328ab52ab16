"""Problems on images. They prove no constants, so experiments run on them and no claim does."""
