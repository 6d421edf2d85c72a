int x;
/*@ begin Loop( transform Unroll(ufactor=2)
for (i = 0; i < n; i++) x[i] = 0;
