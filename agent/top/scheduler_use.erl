%% Use of the schedulers between two readings of the VM's counters.
-module(scheduler_use).
-export([use_of_schedulers/2, microstates/3]).

%% Share of the interval in which each scheduler worked, in thousandths; first the normal ones, then the dirty
%% ones.
use_of_schedulers(Before, After) when is_list(Before), is_list(After) ->
    Pairs = lists:zip(lists:sort(Before), lists:sort(After)),
    [{Id, 1000 * (Active - Active0) div max(1, Total - Total0)}
        || {{Id, Active0, Total0}, {Id, Active, Total}} <- Pairs];
use_of_schedulers(_, _) -> [].

%% Time of all threads of each type in each state during the interval, in the VM's own unit. `in_part` if the
%% accounting was switched off meanwhile.
microstates(Before, After, ElapsedUs) when is_list(Before), is_list(After) ->
    Sums = microstates(Before, After),
    Counted = lists:sum(maps:values(maps:get(scheduler, Sums, #{}))),
    Interval = erlang:convert_time_unit(ElapsedUs, microsecond, perf_counter),
    Threads = length([Id || #{type := scheduler, id := Id} <- After]),
    case Counted * 100 < Interval * Threads * 90 of true -> in_part; false -> Sums end;
microstates(_, _, _) -> in_part.

microstates(Before, After) ->
    Earlier = maps:from_list([{{Type, Id}, Counters} || #{type := Type, id := Id, counters := Counters} <- Before]),
    lists:foldl(fun (#{type := Type, id := Id, counters := Counters}, Sums) ->
        Was = maps:get({Type, Id}, Earlier, #{}),
        More = maps:map(fun (State, Count) -> max(0, Count - maps:get(State, Was, 0)) end, Counters),
        Sum = maps:get(Type, Sums, #{}),
        Sums#{Type => maps:map(fun (State, Count) -> Count + maps:get(State, Sum, 0) end, More)}
    end, #{}, After).
