/* A linked-in driver that holds its scheduler for as many milliseconds as its command says.
 *
 * The structure is that of erl_driver.h, which not every installation of Erlang has. */
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct driver_entry {
    int (*init)(void);
    void *(*start)(void *port, char *command);
    void (*stop)(void *data);
    void (*output)(void *data, char *bytes, size_t length);
    void (*ready_input)(void *data, void *event);
    void (*ready_output)(void *data, void *event);
    char *name;
    void (*finish)(void);
    void *handle;
    ssize_t (*control)(void *data, unsigned command, char *bytes, size_t length, char **answer,
                       size_t answer_size);
    void (*timeout)(void *data);
    void (*outputv)(void *data, void *vector);
    void (*ready_async)(void *data, void *async);
    void (*flush)(void *data);
    ssize_t (*call)(void *data, unsigned command, char *bytes, size_t length, char **answer,
                    size_t answer_size, unsigned *flags);
    void (*unused)(void);
    int marker;
    int major_version;
    int minor_version;
    int flags;
    void *handle2;
    void (*process_exit)(void *data, void *monitor);
    void (*stop_select)(void *event, void *reserved);
    void (*emergency_close)(void *data);
};

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *start(void *port, char *command)
{
    (void)command;
    return port;
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

static struct driver_entry entry = {
    .start = start,
    .name = "holding_drv",
    .control = control,
    .marker = (int)0xfeeeeeed,
    .major_version = 3,
    .minor_version = 0,
};

struct driver_entry *driver_init(void)
{
    return &entry;
}
