"""python -m zoo = the `zoo` command."""

from zoo.run.streams import stopped_by_ctrl_c

with stopped_by_ctrl_c():
    from zoo.cli import main

    main()
