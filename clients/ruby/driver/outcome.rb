# frozen_string_literal: true

# How a call ended.
OK = 0
WRONG_ANSWER = 1
STATUS = 2
TIMEOUT = 3
TRANSPORT = 4
NOT_SENT = 5
