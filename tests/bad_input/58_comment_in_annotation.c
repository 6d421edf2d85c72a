int x;
/*@ begin Loop( transform Unroll(ufactor=2)
  /* a remark */
for (i = 0; i < n; i++) x[i] = 0;
) @*/
/*@ end @*/
