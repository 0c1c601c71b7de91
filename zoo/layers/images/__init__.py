"""Image encoders: from pixels, or from stored features, to one vector per cell of a grid."""
