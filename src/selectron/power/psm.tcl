# A web client behind an 802.11 access point, asleep by order of a policy outside ([Mon06] 2.5.4).
#
#   ns psm.tcl WORKLOAD name value name value ...
#
# Standard output asks, standard input answers, one line each; times are whole nanoseconds.
#   begin          -> listen until         sent NOW BYTES  -> listen until
#   sleep NOW      -> beacon to wake for   woke NOW BYTES  -> listen until
# Unasked: "received NOW BYTES ARRIVED" for each packet, ARRIVED when it was at the access point;
# "page LATENCY" for each page in order; and at last
#   end NOW AWAKE BEACONS RETRANSMITTED

set tcl_precision 17
set FOREVER 4611686018427387904

foreach {name value} [lrange $argv 1 end] { set option($name) $value }

set ns [new Simulator]
set client [$ns node]
set access [$ns node]
set server [$ns node]
Queue set limit_ 1000000 ;# the access point drops nothing
$ns duplex-link $client $access $option(radio_mbps)Mb $option(radio_delay_s)s DropTail
$ns duplex-link $access $server $option(wire_mbps)Mb $option(wire_delay_s)s DropTail

Agent/TCP set tcpip_base_hdr_size_ $option(header)
Agent/TCP set window_ $option(window)
Agent/TCP set windowInit_ $option(initial_window)
Agent/TCP/FullTcp set segsize_ $option(mss)
Agent/TCP/FullTcp set segsperack_ $option(segments_per_ack)
Agent/TCP/FullTcp set nodelay_ [expr {$option(nagle) ? "false" : "true"}]
# Nothing is lost, so a retransmission could only be a timer shorter than a sleep.
foreach timer {rtxcur_init_ minrto_ maxrto_} { Agent/TCP set $timer $option(rto_s) }

proc nanoseconds {} { global ns; return [expr {round([$ns now] * 1e9)}] }
proc ask {args} {
    puts $args
    flush stdout
    if {[gets stdin answer] < 0} { exit 3 }
    return $answer
}

# ---- the station: open (the access point may send to it) and awake (which is what costs)

set queue [[$ns link $access $client] queue]
set open 0
set wake_event ""
set buffered 0 ;# bytes kept at the access point
set down 0     ;# packets at the access point or on the radio link, while open
set arrived {} ;# when these reached the access point, first in first out
set up 0       ;# packets on the radio link to the access point
set awake 0
set counted 0  ;# the awake time is counted up to here
set beacons 0

# A queue that was blocked starts again only when a packet comes: this one has no bytes, goes last,
# and arrives together with the packet before it.
Agent/Ping set packetSize_ 0
set nudge [new Agent/Ping]
set nobody [new Agent/Null]
$ns attach-agent $access $nudge
$ns attach-agent $client $nobody
$ns connect $nudge $nobody

proc open_radio {now until} {
    global ns queue nudge open wake_event buffered counted listen_until
    set open 1
    set listen_until $until
    set counted [expr {max($counted, $now)}]
    if {$wake_event ne ""} { $ns cancel $wake_event; set wake_event "" }
    $queue set blocked_ 0
    if {$buffered} { set buffered 0; $nudge send }
}

proc sleep_when_idle {} {
    global ns queue open up down awake counted listen_until FOREVER
    if {!$open || $up || $down} return ;# what is under way asks again when it arrives
    set now [nanoseconds]
    if {$now < $listen_until} {
        if {$listen_until < $FOREVER} { $ns at [expr {$listen_until / 1e9}] sleep_when_idle }
        return
    }
    if {$now > $counted} { incr awake [expr {$now - $counted}]; set counted $now }
    set open 0
    $queue set blocked_ 1
    sleep_until [ask sleep $now]
}

proc sleep_until {beacon} {
    global ns wake_event
    # 10 ns late: an ACK that waits for the same tick of the clock goes first, as in the simulator.
    set wake_event [$ns at [expr {($beacon + 10) / 1e9}] "wake $beacon"]
}

proc wake {beacon} {
    global beacons buffered wake_event
    set wake_event ""
    incr beacons
    set until [ask woke $beacon $buffered]
    if {$buffered || $until > $beacon} {
        open_radio $beacon $until
        soon sleep_when_idle
    } else {
        sleep_until [ask sleep $beacon]
    }
}

# The link tells of a packet before the agents have seen it: look again when they have.
proc soon {what} { global ns; $ns at [$ns now] $what }

proc down_link {event} {
    global open buffered down arrived
    if {[lindex $event 4] eq "ping"} return
    switch -- [lindex $event 0] {
        + {
            incr down
            lappend arrived [nanoseconds]
            if {!$open} { incr buffered [lindex $event 5] }
        }
        r {
            incr down -1
            puts "received [nanoseconds] [lindex $event 5] [lindex $arrived 0]"
            set arrived [lrange $arrived 1 end]
            soon sleep_when_idle
        }
        d { puts stderr "a packet was dropped"; exit 4 }
    }
}

proc up_link {event} {
    global open up awake counted listen_until
    switch -- [lindex $event 0] {
        + {
            incr up
            set now [nanoseconds]
            set until [ask sent $now [lindex $event 5]]
            if {$open} {
                set listen_until $until
            } elseif {$until > $now} {
                open_radio $now $until
            } elseif {$up == 1} {
                set counted [expr {max($counted, $now)}] ;# awake to send, not open
            }
        }
        r {
            incr up -1
            set now [nanoseconds]
            if {!$open && $up == 0 && $now > $counted} {
                incr awake [expr {$now - $counted}]
                set counted $now
            }
            soon sleep_when_idle
        }
        d { puts stderr "a packet was dropped"; exit 4 }
    }
}
[$ns link $access $client] trace-callback $ns down_link
[$ns link $client $access] trace-callback $ns up_link

# ---- the browser

set file [open [lindex $argv 0]]
set pages {}
while {[gets $file line] >= 0} {
    if {![string match "#*" $line]} { lappend pages $line }
}
close $file
set page -1
set retransmitted 0

proc next_page {} {
    global ns pages page left following objects started option
    incr page
    if {$page == [llength $pages]} finish
    set objects [lrange [lindex $pages $page] 1 end]
    set left [expr {[llength $objects] / 3}]
    set started [nanoseconds]
    set following 1
    fetch 0
}

proc fetch {k} {
    global ns client server objects
    foreach {request reply delay} [lrange $objects [expr {3 * $k}] [expr {3 * $k + 2}]] break
    set here [new Agent/TCP/FullTcp]
    set there [new Agent/TCP/FullTcp]
    $ns attach-agent $client $here
    $ns attach-agent $server $there
    $ns connect $here $there
    $there listen
    set asker [new Application/TcpApp $here]
    set answerer [new Application/TcpApp $there]
    $asker connect $answerer
    set say "$answerer send $reply {fetched $here $there $asker $answerer}"
    if {$delay > 0} { set say "$::ns at \[expr {\[$::ns now\] + $delay}\] {$say}" }
    $asker send $request $say
}

proc fetched {here there asker answerer} {
    global ns pages page left following objects started option
    # Its clock for ACKs would tick for ever; by then the last of them has arrived.
    $ns at [expr {[$ns now] + 0.9}] "forget $here $there $asker $answerer"
    if {[incr left -1] == 0} {
        puts "page [expr {[nanoseconds] - $started}]"
        $ns at [expr {[$ns now] + [lindex [lindex $pages $page] 0]}] next_page
        return
    }
    set wanted [expr {$following == 1 ? $option(connections) : 1}]
    while {$wanted > 0 && 3 * $following < [llength $objects]} {
        fetch $following
        incr following
        incr wanted -1
    }
}

proc forget {here there asker answerer} {
    global ns client server retransmitted
    foreach {node agent app} [list $client $here $asker $server $there $answerer] {
        incr retransmitted [$agent set nrexmitpack_]
        $ns detach-agent $node $agent
        delete $app
        delete $agent
    }
}

proc finish {} {
    global open awake counted beacons retransmitted
    set now [nanoseconds]
    if {$open && $now > $counted} { incr awake [expr {$now - $counted}] }
    puts "end $now $awake $beacons $retransmitted"
    flush stdout
    exit 0
}

set until [ask begin]
if {$until > 0} {
    open_radio 0 $until
} else {
    $queue set blocked_ 1
    sleep_until [ask sleep 0]
}
$ns at 0 next_page
$ns run
