double A[MSIZE*NSIZE];
double x[NSIZE];
double y[MSIZE];
