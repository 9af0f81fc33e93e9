/* The parts of a linked-in driver that all drivers of tests share. A driver defines `control` and ends with `DRIVER`.
 *
 * The structure is that of erl_driver.h, which some installations of Erlang lack. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

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

static void *start(void *port, char *command)
{
    (void)command;
    return port;
}

/* Registers the driver, with further members of the structure. */
#define DRIVER(own_name, ...)                                                                      \
    static struct driver_entry entry = {                                                           \
        .start = start,                                                                            \
        .name = own_name,                                                                          \
        .control = control,                                                                        \
        .marker = (int)0xfeeeeeed,                                                                 \
        .major_version = 3,                                                                        \
        .minor_version = 0,                                                                        \
        __VA_ARGS__};                                                                              \
    struct driver_entry *driver_init(void)                                                         \
    {                                                                                              \
        return &entry;                                                                             \
    }
