!@ begin Loop( transform Unroll(ufactor=2) ) @!
!@ end @!
