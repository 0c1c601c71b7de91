"""python train.py [model=han] [data=yelp] [any.key=value ...]; see zoo/run/launch.py and zoo/run/train.py."""

from zoo.run.launch import main

if __name__ == "__main__":
    main()
