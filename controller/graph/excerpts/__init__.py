"""What a packet shows of the code around a module.

`near` finds files around the module, `named` what the plan names, `rank` says what is likely to be needed; `sources`,
`lines` and `shown` give the lines that matter, and `fit` holds it all within the budget of `tokens`.
"""
