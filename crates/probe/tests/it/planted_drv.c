/* A linked-in driver that does work planted by a test. port_control/3 selects it, with a number in decimal digits:
 * - SLEEP: sleeps for that many microseconds on the calling thread.
 * - SLEEP_LATER: sleeps for as long when the port's own timer fires a moment later.
 * - GROW_HEAP: grows the heap of brk(2) by that many bytes. */
#include "driver.h"

enum { SLEEP = 1, GROW_HEAP = 2, SLEEP_LATER = 3 };

/* A function of the emulator. */
int driver_set_timer(void *port, unsigned long millis);

static unsigned long number_in(const char *bytes, size_t length)
{
    char text[32] = "";
    memcpy(text, bytes, length < sizeof(text) - 1 ? length : sizeof(text) - 1);
    return strtoul(text, NULL, 10);
}

void planted_sleep(unsigned long micros)
{
    struct timespec left = {.tv_sec = micros / 1000000, .tv_nsec = micros % 1000000 * 1000};
    while (nanosleep(&left, &left))
        ;
}

static unsigned long later_micros;

static void timeout(void *data)
{
    (void)data;
    planted_sleep(later_micros);
}

static ssize_t control(void *data, unsigned command, char *bytes, size_t length, char **answer,
                       size_t answer_size)
{
    (void)answer, (void)answer_size;
    unsigned long number = number_in(bytes, length);
    switch (command) {
    case SLEEP:
        planted_sleep(number);
        return 0;
    case SLEEP_LATER:
        later_micros = number;
        return driver_set_timer(data, 1);
    case GROW_HEAP:
        return sbrk((intptr_t)number) == (void *)-1 ? -1 : 0;
    default:
        return -1;
    }
}

DRIVER("planted_drv", .timeout = timeout)
