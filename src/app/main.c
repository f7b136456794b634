#include <stdio.h>

int main(void) {
    printf("fftbloom " VERSION "\n");
    return 0;
}
