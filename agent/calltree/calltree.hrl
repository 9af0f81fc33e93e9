-record(p, {
    pid, owner, entry = none,
    open = false,       % followed or chosen: there is no outermost function that ends the record
    stack = [],         % innermost first: {MFA, Node, real | tail}
    root = 0,           % node below which this process's stacks hang
    base = none,        % the caller of the outermost function
    exact = false,      % the outermost function's own return is traced
    class = run, before_gc = run, off = 0,
    last = none, since = none,  % nanoseconds of the monotonic clock, which is negative
    woken = none,       % when it was found again; its stack shows the time before
    follow = none,      % {Pid that this one waits for, node of the call that waits}
    idle = 0            % events since the call ended
}).

-record(s, {
    to, tracing, budget, entries = [], tails = #{}, procs = #{}, pausing = false,
    hidden = false,     % calls of the entry functions set no flags at present
    count = 0, most_nodes, slowest = none,
    held = [],          % events that earlier ones may still precede, newest first
    held_count = 0,
    lingering = #{},    % processes that were followed and are still traced, with the end of the last wait for them
    calls = 0, cut = 0, most_calls, at_once, role = any, follow = false, not_followed = 0,
    events = 0, window = 0, window_events, windows = 1,
    seen = 0, unseen = 0, unplaced = 0, clearing = #{}, rate = 0, stop = none, started = 0
}).
