/* A driver that spends its time in a function that it does not export, so that only its debug file has the function's
 * name. */
#include "driver.h"

static volatile unsigned long sum;

static __attribute__((noinline)) void hidden_work(void)
{
    for (unsigned long i = 0; i < 200000; i++)
        sum += i * i;
}

static ssize_t control(void *data, unsigned command, char *bytes, size_t length, char **answer,
                       size_t answer_size)
{
    (void)data, (void)command, (void)bytes, (void)length, (void)answer, (void)answer_size;
    hidden_work();
    return 0;
}

DRIVER("hidden_drv", )
