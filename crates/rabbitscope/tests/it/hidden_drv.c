/* A linked-in driver that spends its time in a function that it does not export, so that only its debug file has the
 * function's name.
 *
 * The structure is that of erl_driver.h, which not every installation of Erlang has. */
#include <stddef.h>
#include <sys/types.h>

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

static volatile unsigned long sum;

static __attribute__((noinline)) void hidden_work(void)
{
    for (unsigned long i = 0; i < 200000; i++)
        sum += i * i;
}

static void *start(void *port, char *command)
{
    (void)command;
    return port;
}

static ssize_t control(void *data, unsigned command, char *bytes, size_t length, char **answer,
                       size_t answer_size)
{
    (void)data, (void)command, (void)bytes, (void)length, (void)answer, (void)answer_size;
    hidden_work();
    return 0;
}

static struct driver_entry entry = {
    .start = start,
    .name = "hidden_drv",
    .control = control,
    .marker = (int)0xfeeeeeed,
    .major_version = 3,
    .minor_version = 0,
};

struct driver_entry *driver_init(void)
{
    return &entry;
}
