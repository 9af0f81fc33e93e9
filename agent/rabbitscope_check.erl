%% Reads what a diagnosis of the node needs: two snapshots of tables and processes, and looks in between.
%%
%% A small agent (see README.md). One request spans the whole time of a check. Tables are read in pieces with pauses. No
%% queue, channel or connection is called.
%%
%% It has the functions of rabbitscope_who as well, because each further module costs a large node much at its removal.
-module(rabbitscope_check).
-export([start/3, cleanup/1, tables/1, processes/2, ended/2]).

start(Controller, Keeper, Options) ->
    Words = maps:get(max_heap_bytes, Options) div erlang:system_info(wordsize),
    small_agent:serve(Controller, Keeper, Options#{ends_early => true}, fun (check, Args) ->
        check_course:course(Args#{keeper => Keeper, words => Words})
    end).

%% Microstate accounting is one switch of the node.
cleanup(Armed) -> lists:member(microstates, Armed) andalso erlang:system_flag(microstate_accounting, false).

tables(To) -> owners:known_owners(To).

processes(To, Texts) -> owners:owners(To, Texts).

ended(To, Processes) -> owners:ended_owners(To, Processes).
