#define h1u 16
#define h2u 16
#define h3u 16
#define h7u 16
#define p4u 16
#define p5u 16
#define p6u 16

void sd_t_d1_1(double *restrict t3, const double *restrict t2, const double *restrict v2);

void sd_t_d1_1(double *restrict t3, const double *restrict t2, const double *restrict v2) {
  int h1, h2, h3, h7, p4, p5, p6;
  /*@ begin CHiLL(
    UF0[] = [1, 2, 4, 8, 16];
    permute(0, ("p5", "p4", "p6", "h1", "h2", "h3", "h7"))
    registers(0, "h7")
    unroll(0, "h7", UF0)
  ) @*/
  for (p4 = 0; p4 < p4u; p4++)
    for (p5 = 0; p5 < p5u; p5++)
      for (p6 = 0; p6 < p6u; p6++)
        for (h1 = 0; h1 < h1u; h1++)
          for (h2 = 0; h2 < h2u; h2++)
            for (h3 = 0; h3 < h3u; h3++)
              for (h7 = 0; h7 < h7u; h7++)
                t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] -=
                    t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
  /*@ end @*/
}
