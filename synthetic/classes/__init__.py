"""Classes of functions, by the conditions under which given points have a function in the class."""
