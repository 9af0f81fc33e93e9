%% Reads role, name, virtual host, connection and client of processes.
%%
%% A module of functions, not an agent. `owners` has their rows.
-module(rabbitscope_who).
-export([tables/1, processes/2, ended/2]).

tables(To) -> owners:known_owners(To).

processes(To, Texts) -> owners:owners(To, Texts).

ended(To, Processes) -> owners:ended_owners(To, Processes).
