"""Many runs over knob values."""
