/* Drives generated host code for arrays that a device holds column by column. */
#include <stdio.h>

#include "test_opencl.h"

enum { ROWS = 37, COLUMNS = 11 };

static short a[ROWS][COLUMNS], c[ROWS][COLUMNS];
static double b[ROWS][COLUMNS];

static int differences(int rows)
{
  int bad = 0;
  int i, j;
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLUMNS; j++) {
      a[i][j] = (short)(100 * i + j);
      b[i][j] = -1.0;
      c[i][j] = (short)i;
    }
  orio_opencl_test_turn(&a[0][0], &b[0][0], &c[0][0], rows * COLUMNS, rows * COLUMNS, rows * COLUMNS, rows, rows,
                        COLUMNS);
  for (i = 0; i < ROWS; i++)
    for (j = 0; j < COLUMNS; j++)
      bad += i < rows ? b[i][j] != 2 * a[i][j] || c[i][j] != 11 * i + j : b[i][j] != -1.0 || c[i][j] != i;
  return bad;
}

int main(void)
{
  int bad = differences(ROWS) + differences(1) + differences(0) + differences(20) + differences(ROWS);
  (void)printf("%d differences\n", bad);
  return orio_opencl_test_release();
}
