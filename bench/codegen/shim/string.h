/* Empty: exports include it and use nothing of it. */
