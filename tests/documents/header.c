/* include/ltensor.h */
#include <stdio.h>

#include "ltensor.h"

int main(void)
{
#include "block.inc"
    return 0;
}
