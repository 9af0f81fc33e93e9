/* A driver that holds its scheduler for as many milliseconds as its command says. */
#include "driver.h"

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ssize_t control(void *data, unsigned command, char *bytes, size_t length, char **answer,
                       size_t answer_size)
{
    (void)data, (void)bytes, (void)length, (void)answer, (void)answer_size;
    long until = now_ms() + command;
    while (now_ms() < until)
        ;
    return 0;
}

DRIVER("holding_drv", )
