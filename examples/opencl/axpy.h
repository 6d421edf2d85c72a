/* y += a x for n elements.  The caller sees nothing of OpenCL. */
#ifndef AXPY_H
#define AXPY_H

void axpy(int n, double a, const double *restrict x, double *restrict y);

#endif
