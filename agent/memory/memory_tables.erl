%% Tables of the node, and the large binaries that their objects refer to.
-module(memory_tables).
-export([listed/0, binaries_of/2]).

%% `[{Table, Name, Owner, Objects, Bytes, Protection}]` without those of this process.
listed() -> [Table || Id <- ets:all(), {_, _, _, _, _, _} = Table <- [described_table(Id)]].

described_table(Id) ->
    case [ets:info(Id, Item) || Item <- [name, owner, size, memory, protection]] of
        [Name, Owner, Objects, Words, Protection] when is_pid(Owner), Owner =/= self(), is_integer(Objects), is_integer(Words) ->
            {Id, Name, Owner, Objects, Words * erlang:system_info(wordsize), Protection};
        _ -> gone
    end.

%% {Bytes, Read}: the table's share of the large binaries that up to `Max` of its objects refer to, and the number of
%% these objects. `unreadable` for a private table, and for one that exceeded its time or memory.
%%
%% Objects are copied in pieces to a separate process. The VM lists that process's binaries: {Id, Size, References}. A
%% binary counts in parts, one for each reference, so that all holders together have it once.
binaries_of({_, _, _, _, _, private}, _) -> unreadable;
binaries_of({_, _, _, 0, _, _}, _) -> {0, 0};
binaries_of({Id, _, _, Objects, Bytes, _}, Max) ->
    %% The VM checks the heap limit only after copying a piece, so large objects are copied one by one.
    Piece = max(1, min(min(Max, 500), 1048576 * Objects div max(1, Bytes))),
    Limit = #{size => 4194304, kill => true, error_logger => false},
    {Reader, Monitor} = spawn_opt(fun () ->
        exit({read, try in_pieces_until(Id, Piece, Max) catch error:badarg -> unreadable end})
    end, [monitor, {max_heap_size, Limit}]),
    receive
        {'DOWN', Monitor, process, _, {read, Answer}} -> Answer;
        {'DOWN', Monitor, process, _, _} -> unreadable
    after 2000 ->
        exit(Reader, kill),
        demonitor(Monitor, [flush]),
        unreadable
    end.

in_pieces_until(Id, Piece, Max) ->
    ets:safe_fixtable(Id, true),
    read_pieces(ets:select(Id, [{'_', [], ['$_']}], Piece), Max, 0, 0).

read_pieces('$end_of_table', _, Bytes, Read) -> {Bytes, Read};
read_pieces({Objects, Next}, Max, Bytes, Read) ->
    {binary, Found} = process_info(self(), binary),
    More = share_of_copies(Found),
    Now = Read + length(Objects),
    case Now >= Max of
        true -> {Bytes + More, Now};
        false ->
            next_piece(Next, Max, Bytes + More, Now)
    end.

%% The objects of the previous piece are garbage now, and must not count again.
next_piece(Next, Max, Bytes, Read) ->
    erlang:garbage_collect(),
    read_pieces(ets:select(Next), Max, Bytes, Read).

%% Each reference of the table has one copy here, which is subtracted.
share_of_copies(Found) ->
    Counts = lists:foldl(fun ({Id, Size, References}, Sums) ->
        maps:update_with(Id, fun ({Copies, _, _}) -> {Copies + 1, Size, References} end, {1, Size, References}, Sums)
    end, #{}, Found),
    round(maps:fold(fun (_, {Copies, Size, References}, Sum) ->
        Sum + Size * Copies / max(Copies, References - Copies)
    end, 0.0, Counts)).
