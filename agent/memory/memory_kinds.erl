%% The node's memory by kind, as the VM, its allocators and the operating system count it.
-module(memory_kinds).
-export([kinds/0, allocated/0, resident/0, persistent_terms/0]).

kinds() -> erlang:memory().

%% {Blocks, Carriers}: bytes in use, and bytes that the allocators hold for them. `unknown` if an allocator gives none.
allocated() ->
    Names = erlang:system_info(alloc_util_allocators),
    try lists:foldl(fun add_allocator/2, {0, 0}, Names)
    catch _:_ -> unknown end.

add_allocator(Name, Sums) ->
    case erlang:system_info({allocator_sizes, Name}) of
        Instances when is_list(Instances) -> lists:foldl(fun add_instance/2, Sums, Instances);
        _ -> Sums
    end.

add_instance({instance, _, Groups}, Sums) -> lists:foldl(fun add_group/2, Sums, Groups);
add_instance(_, Sums) -> Sums.

%% Groups are mbcs, mbcs_pool and sbcs: carriers of several blocks, those in a pool, and carriers of one block.
add_group({Name, Figures}, {Blocks, Carriers}) when Name =:= mbcs; Name =:= mbcs_pool; Name =:= sbcs ->
    {Blocks + blocks_size(Figures), Carriers + current(carriers_size, Figures)};
add_group(_, Sums) -> Sums.

%% From OTP 23 on blocks are listed by type.
blocks_size(Figures) ->
    case lists:keyfind(blocks, 1, Figures) of
        {blocks, Types} when is_list(Types) -> lists:sum([current(size, Sizes) || {_, Sizes} <- Types]);
        _ -> current(blocks_size, Figures)
    end.

current(Key, Figures) ->
    case lists:keyfind(Key, 1, Figures) of
        Found when is_tuple(Found) -> element(2, Found);
        false -> 0
    end.

%% Bytes of physical memory.
resident() ->
    case file:open("/proc/self/status", [read, raw, binary]) of
        {ok, Device} ->
            try file:read(Device, 16384) of
                {ok, Text} -> resident_in(Text);
                _ -> unknown
            after file:close(Device) end;
        _ -> unknown
    end.

resident_in(Text) ->
    case re:run(Text, "VmRSS:\\s+(\\d+) kB", [{capture, all_but_first, binary}]) of
        {match, [Number]} -> binary_to_integer(Number) * 1024;
        nomatch -> unknown
    end.

persistent_terms() ->
    try maps:get(memory, apply(persistent_term, info, [])) catch _:_ -> unknown end.
