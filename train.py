"""python train.py [model=han] [data=yelp] [any.key=value ...]; see zoo/run/launch.py and zoo/run/train.py."""

from zoo.run.streams import stopped_by_ctrl_c

if __name__ == "__main__":
    with stopped_by_ctrl_c():
        from zoo.run.launch import main

        main()
