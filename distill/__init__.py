"""From a teacher to a student: rollouts, the dataset of what the firmware would compute, trees, the exact integers."""
