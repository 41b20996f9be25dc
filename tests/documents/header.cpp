/* include/ltensor.hpp */
#include "ltensor.hpp"

int main()
{
#include "block.inc"
    return gradient.size() == 3 ? 0 : 1;
}
