double A[500*500];
double B[500*500];
double C[500*500];
