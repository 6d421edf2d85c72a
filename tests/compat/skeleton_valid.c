int isValid() { return 1; }
