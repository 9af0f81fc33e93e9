/* SPDX-License-Identifier: MIT OR GPL-2.0-only
 *
 * Counts the writes and reads of one process on TCP sockets, by size, without reading their content. The
 * tracepoints came with Linux 6.3. An object of its own, because its maps differ from the sampler's and it is
 * loaded separately.
 */
#include "interface.h"
#include "observed.h"

#define FAMILY_IPV4 2
#define FAMILY_IPV6 10
#define PROTOCOL_TCP 6
#define WOULD_BLOCK -11

/* MSG_PEEK | MSG_ERRQUEUE: the call leaves the data in the socket, or reads no data. */
#define FLAGS_WITHOUT_DATA (0x2 | 0x2000)

/* Ports in the machine's byte order; 0 ends the list. Set by the loader. */
volatile const u16 cfg_ports[SIZE_PORTS] = {};

/* Kernel structures. The loader takes the offsets of their fields from the running kernel's BTF. */
struct sock_common {
    u16 skc_dport; /* big-endian */
    u16 skc_num;
    u16 skc_family;
} __attribute__((preserve_access_index));

struct sock {
    struct sock_common __sk_common;
    u16 sk_protocol;
} __attribute__((preserve_access_index));

struct {
    UINT(type, MAP_PERCPU_ARRAY);
    UINT(max_entries, SOCKET_CALL_COUNT);
    TYPE(key, u32);
    TYPE(value, struct size_counts);
} sizes SEC(".maps");

#define READ_FIELD(to, from) bpf_probe_read_kernel(&(to), sizeof(to), &(from))

/* 1 if the socket is TCP with one of the ports at either end. */
ALWAYS_INLINE int is_counted(struct sock *sock)
{
    u16 family = 0, protocol = 0, local = 0, remote = 0;
    READ_FIELD(family, sock->__sk_common.skc_family);
    READ_FIELD(protocol, sock->sk_protocol);
    if (protocol != PROTOCOL_TCP || (family != FAMILY_IPV4 && family != FAMILY_IPV6))
        return 0;
    READ_FIELD(local, sock->__sk_common.skc_num);
    READ_FIELD(remote, sock->__sk_common.skc_dport);
    remote = __builtin_bswap16(remote);
    for (u32 i = 0; i < SIZE_PORTS; i++) {
        u16 port = cfg_ports[i];
        if (!port)
            return 0;
        if (port == local || port == remote)
            return 1;
    }
    return 0;
}

/* Index of the highest bit. */
ALWAYS_INLINE u32 log2_of(u32 value)
{
    u32 log2 = 0;
    for (u32 step = 16; step; step >>= 1) {
        if (value >> step) {
            value >>= step;
            log2 += step;
        }
    }
    return log2;
}

ALWAYS_INLINE u32 bucket_of(u32 size)
{
    if (size < 1 << SIZE_BUCKET_BITS)
        return size;
    u32 power = log2_of(size);
    u32 within = (size >> (power - SIZE_BUCKET_BITS)) & ((1 << SIZE_BUCKET_BITS) - 1);
    return ((power - SIZE_BUCKET_BITS + 1) << SIZE_BUCKET_BITS) + within;
}

ALWAYS_INLINE void count(struct bpf_raw_tracepoint_args *ctx, u32 call)
{
    struct bpf_pidns_info ids;
    if (!is_observed(&ids) || !is_counted((struct sock *)ctx->args[0]))
        return;
    struct size_counts *counts = bpf_map_lookup_elem(&sizes, &call);
    if (!counts)
        return;
    s32 result = ctx->args[1];
    /* Atomic, because newer kernels may run another program on this CPU in between. */
    if (result < 0) {
        __sync_fetch_and_add(result == WOULD_BLOCK ? &counts->would_block : &counts->failed, 1);
        return;
    }
    __sync_fetch_and_add(&counts->calls, 1);
    __sync_fetch_and_add(&counts->bytes, result);
    __sync_fetch_and_add(&counts->buckets[bucket_of(result) & (SIZE_BUCKETS - 1)], 1);
}

SEC("raw_tp/sock_send_length")
int on_send(struct bpf_raw_tracepoint_args *ctx)
{
    count(ctx, SOCKET_CALL_SEND);
    return 0;
}

SEC("raw_tp/sock_recv_length")
int on_receive(struct bpf_raw_tracepoint_args *ctx)
{
    if (!(ctx->args[2] & FLAGS_WITHOUT_DATA))
        count(ctx, SOCKET_CALL_RECEIVE);
    return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
