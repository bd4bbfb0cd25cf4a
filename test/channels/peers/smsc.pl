#!/usr/bin/perl
# An SMSC over Net::SMPP (Debian: libnet-smpp-perl), for one connection.
# Prints one JSON object per line: the port first, then what it received.
# The end of the recipient's number decides what it does:
#   …01 receipt in optional parameters    …02 receipt in the text, the id in decimal
#   …03 throttled                         …04 invalid recipient
#   …05 receipt before the submit's answer, undelivered
#   …07 receipt that only its text shows to be one, with the answer to the next submit
#   …06 three messages from the phone: in GSM-7, in UCS-2, and in two parts, the second one first
# It joins the parts of a long message by their UDH.
use strict;
use warnings;
use JSON::PP;
use Net::SMPP;

$| = 1;
my $json = JSON::PP->new->canonical;
sub say_line { print $json->encode({@_}), "\n" }

my $server = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34)
  or die "cannot listen: $!";
say_line(port => $server->sockport);
my $peer = $server->accept or die "cannot accept: $!";
$peer->set_version(0x34);
${*$peer}{async} = 1;

my $count = 0x0A0F;
my %joined;
my $late;

sub receipt_text {
    my ($peer, $pdu, $id, $stat, $err, $esm_class) = @_;
    $peer->deliver_sm(
        source_addr => $pdu->{destination_addr}, destination_addr => $pdu->{source_addr},
        esm_class => $esm_class // 4,
        short_message => "id:$id sub:001 dlvrd:001 submit date:2601011200 done date:2601011201 "
          . "stat:$stat err:$err text:hello",
    );
}

sub receipt_tlv {
    my ($peer, $pdu, $id) = @_;
    $peer->deliver_sm(
        source_addr => $pdu->{destination_addr}, destination_addr => $pdu->{source_addr},
        esm_class => 4, short_message => '',
        receipted_message_id => "$id\0", message_state => "\x02",
    );
}

sub phone_writes {
    my ($peer, $pdu) = @_;
    my @phone = (
        source_addr_ton => 1, source_addr_npi => 1, source_addr => $pdu->{destination_addr},
        dest_addr_ton => 3, destination_addr => '70123',
    );
    $peer->deliver_sm(@phone, data_coding => 0, short_message => "a\x00b \x1b\x65");
    $peer->deliver_sm(@phone, data_coding => 8, short_message => pack('n*', 0x0421, 0x0442, 0x043e, 0x043f));
    for my $part ([2, 'world'], [1, 'hello, ']) {
        $peer->deliver_sm(@phone, data_coding => 0, esm_class => 0x40,
            short_message => pack('C6', 5, 0, 3, 77, 2, $part->[0]) . $part->[1]);
    }
}

sub take_submit {
    my ($peer, $pdu) = @_;
    my ($to, $seq) = ($pdu->{destination_addr}, $pdu->{seq});
    my $text = $pdu->{short_message};
    my %got = (
        got => 'submit_sm', to => $to, from => $pdu->{source_addr}, coding => $pdu->{data_coding},
        ton => $pdu->{source_addr_ton}, npi => $pdu->{source_addr_npi}, esm => $pdu->{esm_class},
        registered => $pdu->{registered_delivery},
    );
    if ($pdu->{esm_class} & 0x40) {
        my ($length, $iei, $size, $ref, $total, $part) = unpack 'C6', $text;
        $joined{"$to/$ref"}[$part - 1] = substr $text, $length + 1;
        my @parts = grep { defined } @{ $joined{"$to/$ref"} };
        $text = @parts == $total ? join('', @parts) : undef;
        %got = (%got, part => $part, total => $total);
    }
    say_line(%got, text => defined $text ? unpack('H*', $text) : undef);

    return $peer->submit_sm_resp(seq => $seq, status => 0x58, message_id => '') if $to =~ /03$/;
    return $peer->submit_sm_resp(seq => $seq, status => 0x0B, message_id => '') if $to =~ /04$/;
    my $number = $count++;
    my $id = sprintf '%08X', $number;
    receipt_text($peer, $pdu, $id, 'UNDELIV', '045') if $to =~ /05$/;
    $peer->submit_sm_resp(seq => $seq, message_id => $id);
    $late->() if $late;
    $late = $to =~ /07$/ ? sub { receipt_text($peer, $pdu, $id, 'DELIVRD', '000', 0) } : undef;
    phone_writes($peer, $pdu) if $to =~ /06$/;
    receipt_tlv($peer, $pdu, $id) if $to =~ /01$/;
    receipt_text($peer, $pdu, $number, 'DELIVRD', '000') if $to =~ /02$/;
}

my %answers = (
    0x00000009 => sub {
        my ($peer, $pdu) = @_;
        say_line(got => 'bind', systemId => $pdu->{system_id}, password => $pdu->{password},
            systemType => $pdu->{system_type}, version => $pdu->{interface_version});
        $peer->bind_transceiver_resp(seq => $pdu->{seq}, system_id => 'perl');
    },
    0x00000004 => \&take_submit,
    0x80000005 => sub { say_line(got => 'deliver_sm_resp', status => $_[1]{status}) },
    0x00000015 => sub { $_[0]->enquire_link_resp(seq => $_[1]{seq}) },
    0x00000006 => sub { $_[0]->unbind_resp(seq => $_[1]{seq}); say_line(got => 'unbind'); exit 0 },
);

while (my $pdu = $peer->read_pdu) {
    my $answer = $answers{ $pdu->{cmd} };
    $answer ? $answer->($peer, $pdu) : say_line(got => 'other', command => $pdu->{cmd});
}
