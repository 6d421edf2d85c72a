static double u[100][100], v[100];

void relax(void)
{
  int i, j, it;
  /*@ Loop (
    # two loops, each with its own transformation
    transform Composite(
      scalarreplace = (True, 'double', 's_'),
      regtile = (['j'], [2])
    )
    for (it = 0; it <= 9; it += 2) {
      transform Unroll(ufactor=2, parallelize=False)
      for (i = 1; i <= 98; i++)
        v[i] = u[i][i] / 2.0;   # the diagonal
      transform Tile(tsize=8, tindex='jj')
      transform Permut(seq=['j'])
      for (j = 98; j >= 1; j--)
        if (v[j] > 1.0) u[j][j] = v[j]; else u[j][j] = -v[j];
    }
  ) @*/
  for (it = 0; it <= 9; it += 2) {
    for (i = 1; i <= 98; i++)
      v[i] = u[i][i] / 2.0;
    for (j = 98; j >= 1; j--)
      if (v[j] > 1.0) u[j][j] = v[j]; else u[j][j] = -v[j];
  }
  /*@ @*/
}
